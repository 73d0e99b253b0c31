import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import classes from './example-answer.module.css'

/** Example of an answer with citations and their passages. */
export function ExampleAnswer() {
  return (
    <figure className={classes.frame}>
      <figcaption className={classes.caption}>{t('Example answer')}</figcaption>
      <div className={classes.card}>
        <p className={classes.question}>{t('How long can a tenant keep a spare key?')}</p>
        <p className={classes.answer}>
          {rich(
            'Until the lease ends. The tenant may have one spare cut at their own cost{0} and hands every copy back on the day they move out{1}.',
            <sup>1</sup>,
            <sup>2</sup>,
          )}
        </p>
        <ol className={classes.sources}>
          <li>
            <b>{t('lease.pdf')}</b>
            <span>{t('“…may have one additional key made at the tenant’s expense…”')}</span>
            <i>0.83</i>
          </li>
          <li>
            <b>{t('house-rules.docx')}</b>
            <span>{t('“All keys, copies included, are returned on the last day.”')}</span>
            <i>0.79</i>
          </li>
        </ol>
      </div>
      <pre className={classes.code}>
        <code>
          {'from openai import OpenAI\n'}
          {'client = OpenAI(\n'}
          {'  base_url='}
          <b>{`"${location.origin}/v1"`}</b>
          {',\n  api_key='}
          <b>"lk_…"</b>
          {',\n)'}
        </code>
      </pre>
    </figure>
  )
}
